// Times the operations of a client program of an entry: operation("connect", async { ... }).await.
pub fn server() -> String {
    std::env::var("SERVER").unwrap()
}

pub async fn operation<T>(name: &str, work: impl std::future::Future<Output = T>) -> T {
    let at = std::time::UNIX_EPOCH.elapsed().unwrap().as_micros();
    let began = std::time::Instant::now();
    let result = work.await;
    println!("slownet-cost {} {:.6} {}.{:06}", name, began.elapsed().as_secs_f64(), at / 1_000_000, at % 1_000_000);
    result
}
