/** The filter of `GET /connections` (docs/reference/http.md#connections). All given conditions must hold. */
export interface ConnectionQuery {
  readonly environmentUid: string;
  readonly connectionId?: string | undefined;
  /** Part of the connection id, the end user's name or e-mail; case does not matter. */
  readonly search?: string | undefined;
  readonly endUserId?: string | undefined;
  readonly endUserOrganizationId?: string | undefined;
  /** Integration keys, any of which may match. */
  readonly integrationKeys?: readonly string[] | undefined;
  /** All must match. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Only those with an error of the type, or of any; or those without errors. */
  readonly errors?: 'auth' | 'sync' | 'any' | 'none' | undefined;
  /** Default 10,000. */
  readonly limit?: number | undefined;
  /** Only those after this one in the order of the list. */
  readonly after?: ConnectionPosition | undefined;
  /** From 0. */
  readonly page?: number | undefined;
}

/** Where a connection stands in the order of the list, which no change of the connection moves. */
export interface ConnectionPosition {
  /** Microseconds since the epoch. */
  readonly createdAt: number;
  readonly id: number;
}
