// Loaded before everything else of a process: puts its wall clock forward.
const { now } = Date;
const aheadMs = Number(process.env.SVC_TEST_DAYS_LATER) * 86_400_000;
Date.now = () => now() + aheadMs;
