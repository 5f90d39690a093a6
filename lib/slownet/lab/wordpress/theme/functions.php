<?php
// A page is one request, written by the templates alone: no script or style of WordPress's block editor goes with it.
add_action('after_setup_theme', function () {
    add_theme_support('title-tag');
    add_theme_support('automatic-feed-links');
});
remove_action('wp_head', 'wp_enqueue_scripts', 1);
remove_action('wp_footer', 'wp_enqueue_global_styles', 1);
