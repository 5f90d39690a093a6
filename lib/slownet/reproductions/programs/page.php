<?php
// The queries of one page on one connection, each as long as the article's, as a PHP application sends them to a database.
//
//     php page.php ADDRESS PORT QUERIES BYTES [text|prepared]
//
// BYTES is a query's size on the wire, including five bytes of protocol. "prepared" prepares each query at the server before it
// runs it. Prints {"connect_ns", "times_ns": [...]}. From a web server the words are the request's, after "?", with "+" between.
$words = PHP_SAPI === "cli" ? array_slice($argv, 1) : explode("+", $_SERVER["QUERY_STRING"]);
[$address, $port, $queries, $bytes, $way] = [...$words, "text"];
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
        if ($way === "prepared") {
            $statement = $database->prepare($sql);
            $statement->execute();
            $statement->get_result()->fetch_all();
            $statement->close();
        } else {
            $database->query($sql)->fetch_all();
        }
        $times[] = hrtime(true) - $start;
    }
} catch (mysqli_sql_exception $error) {
    if (PHP_SAPI !== "cli") {
        http_response_code(502);
        exit("page.php: {$error->getMessage()}\n");
    }
    fwrite(STDERR, "page.php: {$error->getMessage()}\n");
    exit(1);
}
echo json_encode(["connect_ns" => $connected, "times_ns" => $times]), "\n";
