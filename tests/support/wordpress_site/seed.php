<?php
// Installs a site, and fills it with what the standard input has as JSON; prints the application passwords as JSON.
define( 'WP_INSTALLING', true );
$_SERVER['HTTP_HOST'] = parse_url( getenv( 'WORDPRESS_TEST_URL' ), PHP_URL_HOST );
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
$given = json_decode( file_get_contents( 'php://stdin' ), true );
// The first post, page and comment of a new site would be in the way.
function wp_install_defaults( $user ) {
}
function wp_new_blog_notification() {
}
wp_install( 'Test site', 'admin', 'admin@example.com', true, '', 'admin' );
update_option( 'permalink_structure', '/%postname%/' );
flush_rewrite_rules();
$ids = array( 'admin' => 1 );
foreach ( $given['users'] as $name => $role ) {
	if ( 'admin' !== $name ) {
		$ids[ $name ] = wp_insert_user(
			array(
				'user_login' => $name,
				'user_pass'  => wp_generate_password(),
				'user_email' => "$name@example.com",
				'role'       => $role,
			)
		);
	}
	$passwords[ $name ] = WP_Application_Passwords::create_new_application_password( $ids[ $name ], array( 'name' => 'tests' ) )[0];
}
wp_set_current_user( 1 );
foreach ( $given['categories'] as $name ) {
	$categories[ $name ] = wp_insert_term( $name, 'category' )['term_id'];
}
foreach ( $given['posts'] as $post ) {
	$id = wp_insert_post(
		wp_slash(
			array(
				'post_type'     => $post['type'],
				'post_status'   => $post['status'],
				'post_title'    => $post['title'],
				'post_name'     => $post['slug'],
				'post_content'  => $post['content'],
				'post_password' => $post['password'],
				'post_author'   => $ids[ $post['author'] ],
				'post_date'     => $post['date'],
				'post_date_gmt' => $post['date'],
			)
		),
		true
	);
	if ( is_wp_error( $id ) ) {
		fwrite( STDERR, $id->get_error_message() );
		exit( 1 );
	}
	if ( 'post' === $post['type'] ) {
		wp_set_post_categories( $id, array( $categories[ $post['category'] ] ) );
	}
	update_post_meta( $id, 'language', $post['lang'] );
	$posts[ $post['slug'] ] = $id;
}
echo json_encode( compact( 'passwords', 'posts' ) );
