import { readdirSync, readFileSync } from 'node:fs';
import { load as parseYaml } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { overlaySchemaFile, overlaySchemaPage } from '../../../../../../src/app/generate.ts';
import { draft2020 } from '../../../../../support/json-schema.ts';

const published = readFileSync(overlaySchemaFile, 'utf8');
const validate = draft2020().compile(JSON.parse(published) as object);
const catalogue = new URL(
  '../../../../../../src/modules/connections/providers/catalogue/',
  import.meta.url,
);

describe('the published schema of overlays', () => {
  it('is what `npm run generate` makes', () => {
    expect(published).toBe(overlaySchemaPage());
  });

  it.each(readdirSync(catalogue))('takes the built-in %s', (file) => {
    validate(parseYaml(readFileSync(new URL(file, catalogue), 'utf8')));
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each([
    ['a missing field', { crm: { display_name: 'CRM' } }],
    ['an unknown field', { crm: { alias: 'slack', proxi: {} } }],
    ['a wrong type', { crm: { alias: 'slack', scope_separator: 3 } }],
    ['a bad name', { C_R_M: { alias: 'slack' } }],
  ])('refuses %s', (_, overlay) => {
    expect(validate(overlay)).toBe(false);
  });
});
