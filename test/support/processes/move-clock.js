// Loaded before everything else of a process: puts its wall clock forward by days, which may be in a file that a test changes.
import { readFileSync } from 'node:fs';

const { now } = Date;
const { SVC_TEST_DAYS_LATER: days, SVC_TEST_DAYS_LATER_FILE: file } = process.env;
const aheadDays = () => Number(file === undefined ? days : readFileSync(file, 'utf8'));
Date.now = () => now() + aheadDays() * 86_400_000;
