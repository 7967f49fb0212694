import { catalogue, type ErrorCode } from '../kernel/errors.ts';

/** A code that a route answers; with a status where that is not the catalogue's. */
export type RouteError = ErrorCode | { readonly code: ErrorCode; readonly status: number };

/** The contract gives some codes a status of their own on some routes (contract/errors.md section 3). */
export const errorAt = (status: number, code: ErrorCode): RouteError => ({ code, status });

export const codeOf = (error: RouteError): ErrorCode =>
  typeof error === 'string' ? error : error.code;

export const statusOf = (error: RouteError): number =>
  typeof error === 'string' ? catalogue[error].status : error.status;
