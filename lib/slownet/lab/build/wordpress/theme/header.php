<!DOCTYPE html>
<html <?php language_attributes(); ?>>
<head>
<meta charset="<?php bloginfo('charset'); ?>">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 100%/1.5 serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
aside { border-top: 1px solid; }
</style>
<?php wp_head(); ?>
</head>
<body <?php body_class(); ?>>
<?php wp_body_open(); ?>
<header>
<h1><a href="<?php echo esc_url(home_url('/')); ?>"><?php bloginfo('name'); ?></a></h1>
<p><?php bloginfo('description'); ?></p>
<nav><?php wp_page_menu(['show_home' => true]); ?></nav>
<?php get_search_form(); ?>
</header>
