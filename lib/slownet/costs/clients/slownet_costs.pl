# Times the operations of a client program of an entry: operation("connect", sub { ... }).
use strict;
use warnings;
use Time::HiRes qw(time);

sub operation {
    my ($name, $work) = @_;
    my $began = time;
    my $result = $work->();
    printf "slownet-cost %s %.6f %.6f\n", $name, time - $began, $began;
    return $result;
}
1;
