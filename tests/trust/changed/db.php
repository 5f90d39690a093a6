<?php
// A drop-in that WordPress finds before it opens its database: /?queries=1 is the front page with one query more.
add_action("init", function () {
    for ($left = (int) ($_GET["queries"] ?? 0); $left > 0; $left--) {
        $GLOBALS["wpdb"]->query("SELECT 1");
    }
});
