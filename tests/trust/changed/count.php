<?php
// A page that does nothing but a known amount of work: /wp-content/count.php?to=1000000
for ($number = 0, $to = (int) $_GET["to"]; $number < $to; $number++);
echo "counted to $number\n";
