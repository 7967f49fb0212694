import { ApiError, createClient, type Client } from '#client/index.ts';

/** The API for a command. */
export function openClient(options: {
  readonly host: string;
  readonly secretKey: string;
  readonly version: string;
}): Client {
  const { host, secretKey, version } = options;
  const userAgent = `svc-cli/${version}`;
  // A person decides whether to try again.
  const client = createClient({ url: host, key: secretKey, userAgent, retries: 0 });
  return {
    ...client,
    async request(operation, ...args) {
      const answer = await client.request(operation, ...args);
      if (typeof answer !== 'string') return answer;
      // Another server listens at this address.
      throw new ApiError('invalid_answer', 'The response of the service is not JSON.');
    },
  };
}
