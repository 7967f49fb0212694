/** The two names that every request about a connection takes. */
export interface ConnectionName {
  readonly integration: string;
  readonly connection: string;
}
