<?php
// Times the operations of a client program of an entry: operation("connect", function () { ... }).
define("SERVER", getenv("SERVER"));

function operation(string $name, callable $work)
{
    $began = microtime(true);
    $result = $work();
    printf("slownet-cost %s %.6F %.6F\n", $name, microtime(true) - $began, $began);
    return $result;
}
