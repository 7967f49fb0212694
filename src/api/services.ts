import type { OperationsServices } from '#modules/operations/services.ts';

export { defineRoute } from '#modules/operations/services.ts';

/** The services that handlers of all routes receive: those of the last wing, which extend those of all others. */
export type Services = OperationsServices;
