<?php
// Installs WordPress into an empty database and fills it until its front page is as long as the article's:
//   php seed.php DOCUMENT_ROOT PAGE_BYTES
// The environment names the database as wp-config.php wants it (SLOWNET_DB_HOST).
// Every date is fixed, so that the site is the same whenever it is made.

const POSTS = 10;           // as many as WordPress shows on its front page
const DATE = '2024-01-%02d 12:00:00';
const NEVER = 4102444800;   // 2100-01-01: what WordPress caches for half an hour stays, so no page pays for it again
const WORDS = ['packet', 'delay', 'round', 'trip', 'page', 'query', 'window', 'segment', 'reader', 'server',
    'database', 'answer', 'question', 'switch', 'queue', 'link', 'cache', 'region', 'office', 'measure'];

[, $root, $target] = $argv;
$target = (int) $target;
$_SERVER = ['HTTP_HOST' => 'web', 'SERVER_NAME' => 'web', 'SERVER_PROTOCOL' => 'HTTP/1.0',
    'REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/'] + $_SERVER;
define('WP_INSTALLING', true);
require $root . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

/** Stands in for WordPress's own, whose salts are random. */
function wp_hash_password(string $password): string {
    return md5($password);
}

function fail(string $why): never {
    fwrite(STDERR, "seed.php: $why\n");
    exit(1);
}

/** Exactly $bytes bytes of plain words, always the same for the same $start. */
function words(int $bytes, int $start): string {
    $text = 'Text';
    for ($i = $start; strlen($text) < $bytes; $i = ($i * 7 + 3) % 1009) {
        $text .= ' ' . WORDS[$i % count(WORDS)];
    }
    return str_replace(' .', 's.', substr($text, 0, $bytes - 1) . '.');
}

/** The content of the post of one day: two paragraphs, the second of $bytes bytes. */
function content(int $day, int $bytes): string {
    return words(200, $day * 17) . "\n\n" . words($bytes, $day * 17 + 1);
}

/** The front page's length in bytes, from a PHP of its own, as a server has it. */
function page_length(string $root): int {
    $command = [PHP_BINARY, __DIR__ . '/front.php', $root];
    $page = shell_exec(implode(' ', array_map('escapeshellarg', $command)));
    if (!is_string($page) || !str_contains($page, '</html>')) {
        fail('the front page does not come: ' . substr((string) $page, 0, 300));
    }
    return strlen($page);
}

/** Fixes what was dated with today's date, made at random or planned for later. */
function settle(): void {
    global $wpdb;
    $first = sprintf(DATE, 1);
    $wpdb->query("UPDATE $wpdb->posts SET post_date='$first', post_date_gmt='$first' WHERE YEAR(post_date) <> 2024");
    $wpdb->query("UPDATE $wpdb->posts SET post_modified=post_date, post_modified_gmt=post_date_gmt");
    $wpdb->query("UPDATE $wpdb->comments SET comment_date='$first', comment_date_gmt='$first'");
    $wpdb->query("UPDATE $wpdb->users SET user_registered='$first', user_pass='" . md5('slownet') . "'");
    $wpdb->query("UPDATE $wpdb->options SET option_value=" . NEVER . " WHERE option_name LIKE '%\\_transient\\_timeout\\_%'");
    $wpdb->query("DELETE FROM $wpdb->postmeta WHERE meta_key IN ('_pingme', '_encloseme')");
    update_option('cron', ['version' => 2]);
}

// No mail to the administrator, no request to the site that is not served yet.
add_filter('pre_wp_mail', '__return_true');
add_filter('pre_http_request', fn() => new WP_Error('slownet', 'no network while the lab is made'));
wp_install('Is 10 ms a lot?', 'admin', 'admin@example.org', false, '', 'slownet', 'en_US');

// The first visitor makes WordPress fill its caches and write its navigation.
page_length($root);
settle();

// As many posts as the page shows share the room that there is, and the newest takes what is left over.
$posts = [1];   // the installer's "Hello world!"
for ($day = 2; $day <= POSTS; $day++) {
    $date = sprintf(DATE, $day);
    $posts[] = $newest = wp_insert_post([
        'post_title' => "A page that is read from afar, part $day", 'post_content' => content($day, 10),
        'post_status' => 'publish', 'post_author' => 1, 'post_date' => $date, 'post_date_gmt' => $date,
    ], true);
    is_wp_error($newest) && fail("post $day: " . $newest->get_error_message());
}
$length = page_length($root);
$length < $target || fail("the front page has $length bytes without its text, more than the $target wanted");
$each = intdiv($target - $length, POSTS - 1);
for ($day = 2; $day < POSTS; $day++) {
    $wpdb->update($wpdb->posts, ['post_content' => content($day, $each)], ['ID' => $posts[$day - 1]]);
}
for ($bytes = $each, $try = 0; $length !== $target && $try < 4; $try++) {
    $bytes = max(10, $bytes + ($try ? $target - $length : 0));
    $wpdb->update($wpdb->posts, ['post_content' => content(POSTS, $bytes)], ['ID' => end($posts)]);
    $length = page_length($root);
}
settle();
$length = page_length($root);
abs($length - $target) <= 64 || fail("the front page has $length bytes instead of $target");
fwrite(STDERR, "seed.php: the front page has $length bytes\n");
