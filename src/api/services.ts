import type { OperationsServices } from '../modules/operations/services.ts';

/** What handlers of all routes are given: what the last wing has, which adds to those of all others. */
export type Services = OperationsServices;
