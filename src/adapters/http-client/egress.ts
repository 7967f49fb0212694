import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '#kernel/errors.ts';
import type { Destination } from '#ports/http-client.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What outgoing requests may reach (docs/reference/guarantees.md#egress). */
export interface EgressPolicy {
  /**
   * Checks before name resolution: scheme, form of the host, literal addresses.
   * @throws GatewayError `url_not_allowed`
   */
  checkUrl(url: Destination): void;
  /**
   * Every address that the name resolved to must be allowed: a mix is refused.
   * @throws GatewayError `url_not_allowed`
   */
  checkAddresses(host: string, port: number, addresses: readonly string[]): void;
}

/** Names of metadata services, and their addresses outside the special ranges. */
const metadataNames = new Set([
  'metadata.google.internal',
  'metadata.goog',
  'instance-data.ec2.internal',
]);
const metadataAddresses = new Set(['168.63.129.16']);

/** The globally routed IPv6 range, and its special subranges. */
const globalV6 = ipaddr.IPv6.parseCIDR('2000::/3');
const specialV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map((range) => ipaddr.IPv6.parseCIDR(range));

/** Cached number of allowed origins. */
const passedMax = 1000;

interface AllowedAddresses {
  readonly hosts: ReadonlySet<string>;
  readonly ranges: readonly [Address, number][];
}

/**
 * @param allow `host:port` entries, whose host may be a name or an address, and CIDRs: exceptions from the policy
 * @throws Error that names an entry that is neither
 */
export function createEgressPolicy(allow: readonly string[]): EgressPolicy {
  const allowed = parseAllow(allow);
  const isExcepted = (host: string, port: number) => allowed.hosts.has(`${host}:${port}`);
  const ports = new Set([...allowed.hosts].map((entry) => entry.slice(entry.lastIndexOf(':') + 1)));
  const hasException = (port: number) => allowed.ranges.length > 0 || ports.has(String(port));
  const isAllowed = (text: string, port: number, isNameSpecial: boolean) => {
    const address = parseAddress(text);
    if (address === null) return false;
    if (isExcepted(address.toString(), port)) return true;
    if (allowed.ranges.some((range) => matches(address, range))) return true;
    return !isNameSpecial && isPublic(address);
  };

  const passed = new LRUCache<string, true>({ max: passedMax });
  return {
    checkUrl(url) {
      // The result depends only on scheme, host and port.
      if (passed.get(url.origin) === true) return;
      if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused();
      const host = hostOf(url.hostname);
      const port = portOf(url);
      if (host === '') throw refused();
      if (!isExcepted(host, port)) {
        if (parseAddress(host) !== null && !isAllowed(host, port, false)) throw refused();
        if (metadataNames.has(host)) throw refused();
        if (!isInternetName(host) && parseAddress(host) === null && !hasException(port)) {
          throw refused();
        }
      }
      passed.set(url.origin, true);
    },
    checkAddresses(name, port, addresses) {
      const host = hostOf(name);
      if (addresses.length === 0) throw refused();
      if (isExcepted(host, port)) return;
      // Names that have a meaning only on this machine or network: they require an exception.
      const isSpecial = parseAddress(host) === null && !isInternetName(host);
      if (!addresses.every((address) => isAllowed(address, port, isSpecial))) throw refused();
    },
  };
}

/** Whether the address is public on the internet; special, embedded and reserved ones are not. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && isPublic(address);
}

function isPublic(address: Address): boolean {
  if (metadataAddresses.has(address.toString())) return false;
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  return address.match(globalV6) && !specialV6.some((range) => address.match(range));
}

function parseAddress(text: string): Address | null {
  // Four-part decimal only: the URL parser has already turned other spellings into it.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null;
}

function matches(address: Address, [range, bits]: [Address, number]): boolean {
  return address.kind() === range.kind() && address.match(range, bits);
}

function isInternetName(host: string): boolean {
  return host.includes('.') && !host.endsWith('.localhost');
}

function parseAllow(entries: readonly string[]): AllowedAddresses {
  const hosts = new Set<string>();
  const ranges: [Address, number][] = [];
  for (const entry of entries.map((text) => text.trim()).filter((text) => text !== '')) {
    const range = ipaddr.isValidCIDR(entry) ? ipaddr.parseCIDR(entry) : null;
    const url = `http://${entry}`;
    if (range) {
      ranges.push(range);
    } else if (/:\d{1,5}$/.test(entry) && URL.canParse(url) && new URL(url).pathname === '/') {
      const { hostname } = new URL(url);
      hosts.add(`${hostOf(hostname)}:${Number(entry.slice(entry.lastIndexOf(':') + 1))}`);
    } else {
      throw new Error(`"${entry}" is neither host:port nor a CIDR`);
    }
  }
  return { hosts, ranges };
}

/** Lower case, without the brackets of IPv6 and the trailing dot; addresses normalized. */
function hostOf(hostname: string): string {
  const host = hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  return parseAddress(host)?.toString() ?? host;
}

function portOf(url: Destination): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80));
}

/** Reveals nothing about the address. */
function refused(): GatewayError {
  return new GatewayError('url_not_allowed');
}
