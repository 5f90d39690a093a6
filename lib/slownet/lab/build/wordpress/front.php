<?php
// Prints the front page as a web server would give it: php front.php DOCUMENT_ROOT

$_SERVER = [
    'HTTP_HOST' => 'web', 'SERVER_NAME' => 'web', 'SERVER_PROTOCOL' => 'HTTP/1.0', 'SERVER_SOFTWARE' => 'nginx',
    'REMOTE_ADDR' => '127.0.0.1', 'REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/', 'QUERY_STRING' => '',
    'SCRIPT_FILENAME' => $argv[1] . '/index.php', 'SCRIPT_NAME' => '/index.php', 'PHP_SELF' => '/index.php',
] + $_SERVER;
require $argv[1] . '/index.php';
