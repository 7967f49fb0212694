import { catalogue, type ErrorCode } from '../kernel/errors.ts';

/** An error code of a route; with a status if it differs from the catalog's. */
export type RouteError = ErrorCode | { readonly code: ErrorCode; readonly status: number };

/** Some codes have a status of their own on some routes (docs/reference/errors.md#codes-with-other-statuses). */
export const errorAt = (status: number, code: ErrorCode): RouteError => ({ code, status });

export const codeOf = (error: RouteError): ErrorCode =>
  typeof error === 'string' ? error : error.code;

export const statusOf = (error: RouteError): number =>
  typeof error === 'string' ? catalogue[error].status : error.status;
