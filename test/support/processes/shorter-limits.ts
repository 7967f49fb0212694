// Loaded before everything else of a process: its limits are those of the test.
import { limits } from '#kernel/limits.ts';

Object.assign(limits, JSON.parse(process.env['SVC_TEST_LIMITS'] ?? '{}'));
