<?php
// WordPress of the lab. The same site at every address: nginx passes "web" as the host's name, so
// pages are the same to the byte wherever the web host is. The database's address comes from the environment.
define('DB_HOST', getenv('SLOWNET_DB_HOST') ?: 'db');
define('DB_NAME', 'wordpress');
define('DB_USER', 'wordpress');
define('DB_PASSWORD', 'wordpress');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
$table_prefix = 'wp_';

define('WP_HOME', 'http://web');
define('WP_SITEURL', 'http://web');

// Fixed, so that two builds of the image hold the same site. There is nothing to protect in a lab.
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $slownet_name) {
    define($slownet_name . '_KEY', 'slownet lab key');
    define($slownet_name . '_SALT', 'slownet lab salt');
}

// Nothing happens that the client did not ask for.
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISALLOW_FILE_MODS', true);
define('WP_DEFAULT_THEME', 'slownet');

if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
