<aside>
<?php
foreach (['Recent_Posts', 'Recent_Comments', 'Archives', 'Categories', 'Meta'] as $widget) {
    the_widget("WP_Widget_$widget");
}
?>
</aside>
