#!/usr/bin/env bash
# Puts WordPress with its SQLite integration into the tests' cache: WordPress from Debian's package, which is unpacked
# and not installed, because it would bring a web server; the integration from the npm package of WordPress Playground.
# As root, it also installs PHP. It needs apt-get, dpkg and npm, and does nothing if WordPress is there already.
set -eu
home=${XDG_CACHE_HOME:-$HOME/.cache}/internal-linker-tests
if [ "$(id -u)" = 0 ] && ! php -r 'exit(extension_loaded("pdo_sqlite") && extension_loaded("curl") && extension_loaded("mbstring") && extension_loaded("xml") ? 0 : 1);' 2>/dev/null; then
    apt-get update -qq
    apt-get install -qq --yes --no-install-recommends php-cli php-sqlite3 php-xml php-mbstring php-curl
fi
[ -e "$home/wordpress/wp-load.php" ] && exit
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
cd "$new"
apt-get download -qq wordpress 2>/dev/null
npm pack --silent @wp-playground/cli >/dev/null
dpkg -x wordpress_*.deb unpacked
tar xzf wp-playground-cli-*.tgz
php -r '$zip = new PharData("package/sqlite-database-integration.zip"); $zip->extractTo("integration");'
# Links to files of packages that are not installed would be dead.
find unpacked -xtype l -delete
site=unpacked/usr/share/wordpress
plugin=$site/wp-content/sqlite
mv integration/* "$plugin"
# WordPress 6.1 does not have this property in the parent class, where the integration wants to set it.
sed -i 's/private \$allow_unsafe_unquoted_parameters/public $allow_unsafe_unquoted_parameters/' \
    "$plugin/wp-includes/sqlite/class-wp-sqlite-db.php"
sed 's|{SQLITE_IMPLEMENTATION_FOLDER_PATH}|'"$home"'/wordpress/wp-content/sqlite|' "$plugin/db.copy" >"$site/wp-content/db.php"
# The configuration belongs to a test's site, and so stands with the tests.
printf '<?php require getenv( "WORDPRESS_TEST_CONFIG" );\n' >"$site/wp-config.php"
mkdir -p "$home"
rm -rf "$home/wordpress"
mv "$site" "$home/wordpress"
