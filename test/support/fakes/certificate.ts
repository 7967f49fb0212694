import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { dayMs } from '#kernel/time.ts';

/** Both in PEM. */
export interface Certified {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A self-signed certificate of 127.0.0.1 (X.509, P-256), for servers and for clients. */
export function selfSigned(commonName: string): Certified {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const name = sequence(
    der(
      0x31,
      sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(commonName))),
    ),
  );
  const validity = sequence(utcTime(Date.now() - dayMs), utcTime(Date.now() + dayMs));
  const address = sequence(der(0x87, Buffer.from([127, 0, 0, 1])));
  const alternativeName = sequence(der(0x06, Buffer.from('551d11', 'hex')), der(0x04, address));
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeName)),
  );
  const signature = sign('sha256', toSign, privateKey);
  const whole = sequence(toSign, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Tag, length, content (X.690). */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);

/** YYMMDDHHMMSSZ. */
function utcTime(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}
