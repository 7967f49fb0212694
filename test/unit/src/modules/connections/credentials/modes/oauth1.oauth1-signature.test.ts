import { describe, expect, it } from 'vitest';
import { baseString, oauth1Header } from '#modules/connections/credentials/modes/oauth1.ts';

/** The worked example that one provider of OAuth 1.0a publishes. */
const published = {
  method: 'POST',
  url: new URL('https://api.twitter.com/1/statuses/update.json?include_entities=true'),
  form: [['status', 'Hello Ladies + Gentlemen, a signed OAuth request!']],
  consumerKey: 'xvz1evFS4wEEPTGEFPHBog',
  consumerSecret: 'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
  token: '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
  tokenSecret: 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
  algorithm: 'HMAC-SHA1',
  timestamp: 1_318_622_958,
  nonce: 'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg',
} as const;

describe('a request signed with OAuth 1.0', () => {
  it('has the signature of the published example', () => {
    const header = oauth1Header(published);
    expect(header).toContain('oauth_signature="tnnArxj06cWHq44gCs1OSKk%2FjLY%3D"');
  });

  it('orders parameters by their encoded names and values (RFC 5849 section 3.4.1.3.2)', () => {
    const url = new URL('http://example.com/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b');
    const form = [
      ['c2', ''],
      ['a3', '2 q'],
    ] as const;
    const parameters = {
      oauth_consumer_key: '9djdj82h48djs9d2',
      oauth_token: 'kkk9d7dh3k39sjv7',
      oauth_signature_method: 'HMAC-SHA1',
      oauth_timestamp: '137131201',
      oauth_nonce: '7d8f3e4a',
    };
    expect(baseString({ method: 'post', url, form }, parameters)).toBe(
      'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7',
    );
  });

  it('is signed by its secrets alone with PLAINTEXT, and says the realm first', () => {
    const header = oauth1Header({ ...published, algorithm: 'PLAINTEXT', realm: 'ACME_SB1' });
    expect(header).toMatch(/^OAuth realm="ACME_SB1", oauth_consumer_key=/);
    expect(header).toContain(
      `oauth_signature="${published.consumerSecret}%26${published.tokenSecret}"`,
    );
  });
});
