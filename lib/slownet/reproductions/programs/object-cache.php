<?php
// WordPress's object cache in memcached: a drop-in for wp-content. SLOWNET_MEMCACHED names the server, "10.0.0.2:11211".
//
// A page keeps the values that it has read; others it requests from memcached, over one connection that a PHP worker keeps from
// page to page. If the server does not answer, the cache behaves as if it were empty.
// The functions are those of wp-includes/cache.php; functions for several values that are not here come from cache-compat.php.

class WP_Object_Cache {
    const MONTH = 30 * 86400;   // memcached takes larger numbers of seconds for a date
    private array $known = [];  // id => value, of this page
    private array $global = [];
    private array $local = [];  // groups that are not shared with other pages
    private string $blog = '';
    private Memcached $server;

    public function __construct() {
        $this->server = new Memcached('slownet');
        if (!$this->server->getServerList()) {   // later pages of a worker reuse the connection
            [$host, $port] = explode(':', getenv('SLOWNET_MEMCACHED'));
            $this->server->addServer($host, (int) $port);
            $this->server->setOption(Memcached::OPT_TCP_NODELAY, true);
        }
        $this->switch_to_blog(is_multisite() ? get_current_blog_id() : 0);
    }

    /** Return the key for memcached, which allows 250 bytes at most and no spaces. */
    private function id(string|int $key, string $group): string {
        return md5((isset($this->global[$group]) ? '' : $this->blog) . ":$group:$key");
    }

    private function seconds(int $expire): int {
        return $expire > self::MONTH ? time() + $expire : max(0, $expire);
    }

    private function keep(string $id, mixed $value): bool {
        $this->known[$id] = is_object($value) ? clone $value : $value;
        return true;
    }

    private function known(string $id): mixed {
        return is_object($this->known[$id]) ? clone $this->known[$id] : $this->known[$id];
    }

    public function add($key, $value, string $group, int $expire): bool {
        $id = $this->id($key, $group);
        if (wp_suspend_cache_addition() || array_key_exists($id, $this->known)) {
            return false;
        }
        $added = isset($this->local[$group]) || $this->server->add($id, $value, $this->seconds($expire));
        return $added && $this->keep($id, $value);
    }

    public function replace($key, $value, string $group, int $expire): bool {
        $this->get($key, $group, false, $found);
        return $found && $this->set($key, $value, $group, $expire);
    }

    public function set($key, $value, string $group, int $expire): bool {
        $id = $this->id($key, $group);
        $this->keep($id, $value);
        return isset($this->local[$group]) || $this->server->set($id, $value, $this->seconds($expire));
    }

    public function get($key, string $group, bool $force, ?bool &$found): mixed {
        return $this->get_multiple([$key], $group, $force, $found)[$key];
    }

    /** Return the values by their keys, false for missing ones; all from memcached in one round trip. */
    public function get_multiple(array $keys, string $group, bool $force, ?bool &$found = null): array {
        $ids = [];
        foreach ($keys as $key) {
            $ids[$key] = $this->id($key, $group);
        }
        $local = isset($this->local[$group]);
        $asked = array_filter($ids, fn($id) => !$local && ($force || !array_key_exists($id, $this->known)));
        if ($asked) {
            $this->known = array_diff_key($this->known, array_flip($asked));
            foreach ($this->server->getMulti(array_values($asked)) ?: [] as $id => $value) {
                $this->known[$id] = $value;
            }
        }
        $found = true;
        $values = [];
        foreach ($ids as $key => $id) {
            $here = array_key_exists($id, $this->known);
            $values[$key] = $here ? $this->known($id) : false;
            $found = $found && $here;
        }
        return $values;
    }

    public function delete($key, string $group): bool {
        $id = $this->id($key, $group);
        $here = array_key_exists($id, $this->known);
        unset($this->known[$id]);
        return isset($this->local[$group]) ? $here : $this->server->delete($id);
    }

    /** Add to an existing whole number on the server, because other workers may do so, too; it never gets below 0. */
    public function add_to($key, int $offset, string $group): int|false {
        $id = $this->id($key, $group);
        if (!isset($this->local[$group])) {
            $step = $offset < 0 ? 'decrement' : 'increment';
            $value = $this->server->$step($id, abs($offset));
        } else {
            $value = isset($this->known[$id]) ? max(0, (int) $this->known[$id] + $offset) : false;
        }
        if ($value !== false) {
            $this->keep($id, $value);
        }
        return $value;
    }

    public function flush(): bool {
        $this->known = [];
        return $this->server->flush();
    }

    public function flush_runtime(): bool {
        $this->known = [];
        return true;
    }

    public function add_global_groups(array $groups): void {
        $this->global += array_fill_keys($groups, true);
    }

    public function add_non_persistent_groups(array $groups): void {
        $this->local += array_fill_keys($groups, true);
    }

    public function switch_to_blog(int $blog): void {
        $this->blog = (string) $blog;
    }
}

function wp_cache_init() {
    $GLOBALS['wp_object_cache'] = new WP_Object_Cache();
}

function wp_cache_add($key, $data, $group = '', $expire = 0) {
    return $GLOBALS['wp_object_cache']->add($key, $data, $group ?: 'default', (int) $expire);
}

function wp_cache_replace($key, $data, $group = '', $expire = 0) {
    return $GLOBALS['wp_object_cache']->replace($key, $data, $group ?: 'default', (int) $expire);
}

function wp_cache_set($key, $data, $group = '', $expire = 0) {
    return $GLOBALS['wp_object_cache']->set($key, $data, $group ?: 'default', (int) $expire);
}

function wp_cache_get($key, $group = '', $force = false, &$found = null) {
    return $GLOBALS['wp_object_cache']->get($key, $group ?: 'default', (bool) $force, $found);
}

function wp_cache_get_multiple($keys, $group = '', $force = false) {
    return $GLOBALS['wp_object_cache']->get_multiple($keys, $group ?: 'default', (bool) $force);
}

function wp_cache_delete($key, $group = '') {
    return $GLOBALS['wp_object_cache']->delete($key, $group ?: 'default');
}

function wp_cache_incr($key, $offset = 1, $group = '') {
    return $GLOBALS['wp_object_cache']->add_to($key, (int) $offset, $group ?: 'default');
}

function wp_cache_decr($key, $offset = 1, $group = '') {
    return $GLOBALS['wp_object_cache']->add_to($key, -(int) $offset, $group ?: 'default');
}

function wp_cache_flush() {
    return $GLOBALS['wp_object_cache']->flush();
}

function wp_cache_flush_runtime() {
    return $GLOBALS['wp_object_cache']->flush_runtime();
}

function wp_cache_add_global_groups($groups) {
    $GLOBALS['wp_object_cache']->add_global_groups((array) $groups);
}

function wp_cache_add_non_persistent_groups($groups) {
    $GLOBALS['wp_object_cache']->add_non_persistent_groups((array) $groups);
}

function wp_cache_switch_to_blog($blog_id) {
    $GLOBALS['wp_object_cache']->switch_to_blog((int) $blog_id);
}

function wp_cache_supports($feature) {
    return in_array($feature, ['get_multiple', 'flush_runtime'], true);
}

function wp_cache_close() {
    return true;
}
