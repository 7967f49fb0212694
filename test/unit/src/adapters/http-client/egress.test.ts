import { describe, expect, it } from 'vitest';
import { createEgressPolicy, isPublicAddress } from '#adapters/http-client/egress.ts';

const refusal = expect.objectContaining({ code: 'url_not_allowed', status: 400 }) as Error;

describe('the classification of addresses', () => {
  it.each([
    ['public', '93.184.216.34', true],
    ['public', '2606:4700::1111', true],
    ['loopback', '127.0.0.1', false],
    ['loopback', '127.255.255.254', false],
    ['loopback', '::1', false],
    ['unspecified', '0.0.0.0', false],
    ['unspecified', '0.1.2.3', false],
    ['unspecified', '::', false],
    ['private', '10.1.2.3', false],
    ['private', '172.16.0.1', false],
    ['private', '172.31.255.255', false],
    ['next to private', '172.32.0.1', true],
    ['private', '192.168.1.1', false],
    ['link-local', '169.254.1.1', false],
    ['link-local', 'fe80::1', false],
    ['link-local with a zone', 'fe80::1%eth0', false],
    ['metadata', '169.254.169.254', false],
    ['metadata', '168.63.129.16', false],
    ['metadata', '100.100.100.200', false],
    ['metadata', 'fd00:ec2::254', false],
    ['carrier-grade NAT', '100.64.0.1', false],
    ['next to carrier-grade NAT', '100.128.0.1', true],
    ['multicast', '224.0.0.1', false],
    ['multicast', 'ff02::1', false],
    ['broadcast', '255.255.255.255', false],
    ['reserved', '240.0.0.1', false],
    ['documentation', '192.0.2.1', false],
    ['documentation', '198.51.100.1', false],
    ['documentation', '203.0.113.1', false],
    ['documentation', '2001:db8::1', false],
    ['documentation', '3fff::1', false],
    ['benchmarking', '198.18.0.1', false],
    ['benchmarking', '2001:2::1', false],
    ['6to4 relay', '192.88.99.1', false],
    ['unique local', 'fd12:3456::1', false],
    ['site-local', 'fec0::1', false],
    ['IPv4-mapped', '::ffff:93.184.216.34', false],
    ['IPv4-mapped', '::ffff:7f00:1', false],
    ['IPv4-compatible', '::93.184.216.34', false],
    ['NAT64', '64:ff9b::5db8:d822', false],
    ['local NAT64', '64:ff9b:1::1', false],
    ['6to4', '2002:7f00:1::', false],
    ['Teredo', '2001:0:4136:e378::1', false],
    ['discard', '100::1', false],
    ['no address', 'example.com', false],
    ['octal', '0177.0.0.1', false],
    ['empty', '', false],
  ])('%s: %s', (_kind, address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });
});

describe('the policy without exceptions', () => {
  const policy = createEgressPolicy([]);

  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.localhost/',
    'http://intranet/',
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://metadata.google.internal/',
    'https://metadata.goog/',
    'http://10.0.0.1:8080/',
  ])('refuses %s', (url) => {
    expect(() => policy.checkUrl(new URL(url))).toThrow(refusal);
  });

  it.each(['https://example.com/', 'http://93.184.216.34/', 'https://[2606:4700::1111]/'])(
    'lets %s pass',
    (url) => {
      expect(() => policy.checkUrl(new URL(url))).not.toThrow();
    },
  );

  it('refuses a name that resolves to good and bad addresses, or to none', () => {
    expect(() => policy.checkAddresses('a.example', 80, ['93.184.216.34'])).not.toThrow();
    expect(() => policy.checkAddresses('a.example', 80, ['93.184.216.34', '10.0.0.1'])).toThrow(
      refusal,
    );
    expect(() => policy.checkAddresses('a.example', 80, [])).toThrow(refusal);
    expect(() => policy.checkAddresses('intranet', 80, ['93.184.216.34'])).toThrow(refusal);
  });
});

describe('exceptions of the operator', () => {
  it('of an address and port hold for exactly these', () => {
    const policy = createEgressPolicy(['127.0.0.1:8080', '[::1]:9090']);
    expect(() => policy.checkUrl(new URL('http://127.0.0.1:8080/'))).not.toThrow();
    expect(() => policy.checkUrl(new URL('http://[::1]:9090/'))).not.toThrow();
    expect(() => policy.checkUrl(new URL('http://127.0.0.1:8081/'))).toThrow(refusal);
    expect(() => policy.checkUrl(new URL('http://127.0.0.2:8080/'))).toThrow(refusal);
    expect(() => policy.checkAddresses('a.example', 8080, ['127.0.0.1'])).not.toThrow();
    expect(() => policy.checkAddresses('a.example', 8081, ['127.0.0.1'])).toThrow(refusal);
  });

  it('of a name hold for whatever it resolves to on that port', () => {
    const policy = createEgressPolicy(['Fake-Provider:3100', 'localhost:80']);
    expect(() => policy.checkUrl(new URL('http://fake-provider:3100/'))).not.toThrow();
    expect(() => policy.checkAddresses('fake-provider', 3100, ['172.18.0.4'])).not.toThrow();
    expect(() => policy.checkUrl(new URL('http://localhost/'))).not.toThrow();
    expect(() => policy.checkUrl(new URL('https://localhost/'))).toThrow(refusal);
    expect(() => policy.checkAddresses('other', 3100, ['172.18.0.4'])).toThrow(refusal);
  });

  it('of a range hold for its addresses on every port, under any name', () => {
    const policy = createEgressPolicy(['10.1.0.0/16', 'fd00::/8']);
    expect(() => policy.checkUrl(new URL('http://10.1.2.3:1234/'))).not.toThrow();
    expect(() => policy.checkUrl(new URL('http://10.2.2.3/'))).toThrow(refusal);
    expect(() => policy.checkAddresses('intranet', 80, ['10.1.9.9', 'fd00::1'])).not.toThrow();
    expect(() => policy.checkAddresses('intranet', 80, ['10.1.9.9', '10.2.0.1'])).toThrow(refusal);
  });

  it.each(['example.com', '10.0.0.1', 'http://a:80', 'a:b', '10.0.0.0/99', 'a:80/path'])(
    'that say %s are refused at the start',
    (entry) => {
      expect(() => createEgressPolicy([entry])).toThrow(`"${entry}" is neither`);
    },
  );
});
