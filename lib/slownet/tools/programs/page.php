<?php
// The queries of one page on one connection, each as long as the article's, as a PHP application sends them to a database.
//
//     php page.php ADDRESS PORT QUERIES BYTES
//
// BYTES is a query's size on the wire, including five bytes of protocol. Prints {"connect_ns", "times_ns": [...]}.
[$address, $port, $queries, $bytes] = array_slice($argv, 1);
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
$began = hrtime(true);
try {
    $database = new mysqli($address, "wordpress", "wordpress", "wordpress", (int) $port);
    $connected = hrtime(true) - $began;
    $times = [];
    for ($number = 0; $number < $queries; $number++) {
        $select = "SELECT COUNT(*) n FROM wp_options WHERE option_id = $number";
        $sql = str_pad("$select -- ", $bytes - 5, "x");
        $start = hrtime(true);
        $database->query($sql)->fetch_all();
        $times[] = hrtime(true) - $start;
    }
} catch (mysqli_sql_exception $error) {
    fwrite(STDERR, "page.php: {$error->getMessage()}\n");
    exit(1);
}
echo json_encode(["connect_ns" => $connected, "times_ns" => $times]), "\n";
