<?php
// A page is one request, written by the templates alone, as pages were before WordPress had a block editor: nothing of
// the editor's is made ready for a page that holds no block: that would be nearly half of PHP's work for one.
add_action('after_setup_theme', function () {
    add_theme_support('title-tag');
    add_theme_support('automatic-feed-links');

    $of_the_editor = '/^_?(wp_)?_?register_(core_|theme_)?(block|default_font)/';
    foreach ($GLOBALS['wp_filter']['init']->callbacks as $priority => $callbacks) {
        foreach (preg_grep($of_the_editor, array_keys($callbacks)) as $callback) {
            remove_action('init', $callback, $priority);
        }
    }
});
remove_action('init', ['WP_Block_Supports', 'init'], 22);
remove_filter('the_content', 'apply_block_hooks_to_content_from_post_object', 8);
remove_filter('the_content', 'do_blocks', 9);

// No script, no style and no font but the template's.
remove_action('wp_head', 'wp_enqueue_scripts', 1);
remove_action('wp_head', 'wp_maybe_inline_styles', 1);
remove_action('wp_head', 'print_emoji_detection_script', 7);
remove_action('wp_head', 'wp_print_styles', 8);
remove_action('wp_head', 'wp_print_head_scripts', 9);
remove_action('wp_head', 'wp_print_font_faces', 50);
remove_action('wp_head', 'wp_print_font_faces_from_style_variations', 50);
remove_action('wp_footer', 'wp_enqueue_global_styles', 1);
remove_action('wp_footer', 'wp_maybe_inline_styles', 1);
remove_action('wp_footer', 'wp_print_footer_scripts', 20);
remove_action('wp_footer', 'wp_print_speculation_rules');
