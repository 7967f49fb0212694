import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** `docs/generated/provider-limits.md`: the limit of requests of each provider of the catalog that declares one. */
export function providerLimitsPage(table: Table, hint: string): string {
  const rows = loadCatalogue({ overlayPath: null })
    .all()
    .flatMap(({ name, proxy }) => {
      const limit = proxy?.rate_limit;
      if (limit === undefined) return [];
      const { requests, seconds, per } = limit;
      return [[`\`${name}\``, String(requests), String(seconds), per]];
    });
  return `# Limits of the providers

The limits of requests that the built-in catalog declares (\`proxy.rate_limit\`): those that the provider documents for every plan. What
they do, and how an integration has another or none: [the limit of the provider](../integrations.md#the-limit-of-the-provider). ${hint}

${table(['Provider', 'Requests', 'Seconds', 'Per'], rows)}
`;
}
