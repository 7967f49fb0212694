interface Refusal {
  response?: { status?: number; data?: RefusalBody };
}

interface RefusalBody {
  message?: string;
  errors?: (string | Record<string, string>)[];
}

/** What Harvest v3 does not accept of a request (422); null: the error is another one. */
export function refusalOf(error: unknown): string | null {
  const { status, data } = (error as Refusal).response ?? {};
  if (status !== 422) return null;
  const details = (data?.errors ?? []).map((one) =>
    typeof one === 'string'
      ? one
      : Object.entries(one)
          .map(([field, problem]) => `${field}: ${problem}`)
          .join('; '),
  );
  return [data?.message ?? 'Refused', ...details].join(': ');
}
