<?php get_header(); ?>
<main>
<?php while (have_posts()) : the_post(); ?>
<article id="post-<?php the_ID(); ?>" <?php post_class(); ?>>
<h2><a href="<?php the_permalink(); ?>"><?php the_title(); ?></a></h2>
<p><?php echo get_the_date(); ?>, <?php the_author_posts_link(); ?>, <?php the_category(', '); ?>,
<a href="<?php comments_link(); ?>"><?php comments_number(); ?></a></p>
<?php the_content(); ?>
</article>
<?php endwhile; ?>
<?php the_posts_pagination(); ?>
</main>
<?php get_sidebar(); get_footer();
