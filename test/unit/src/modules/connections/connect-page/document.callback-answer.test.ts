import { describe, expect, it } from 'vitest';
import { connectUiSettings } from '#modules/access/connect-ui/connect-ui.ts';
import { callbackAnswer } from '#modules/connections/connect-page/document.ts';

const settings = { publicUrl: 'https://gateway.example/svc/' };
const services = { settings } as Parameters<typeof callbackAnswer>[1];

describe('the document that ends a flow', () => {
  it('holds what a stranger wrote as data, not as elements', async () => {
    const message = '</script><script>alert(1)</script><!--';
    const refused = {
      ok: false,
      errorType: 'callback_err',
      message,
      logId: 'op_1',
      providerCode: 'access_denied',
      providerDescription: null,
      reason: null,
      fix: null,
      wsClientId: null,
    } as const;
    const { status, body, headers } = await callbackAnswer(refused, services);
    const html = String(body);
    expect(status).toBe(400);
    const data = /<script type="application\/json" id="data">(.*)<\/script>/.exec(html)![1]!;
    expect(JSON.parse(data)).toEqual(refused);
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(headers!['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  it('finds its files below the path of the service, wherever it is shown', async () => {
    const done = {
      ok: true,
      providerConfigKey: 'crm',
      connectionId: 'c',
      isPending: false,
      wsClientId: 'w',
    } as const;
    const { status, body } = await callbackAnswer(done, services);
    expect(status).toBe(200);
    expect(String(body)).toMatch(/src="\/svc\/connect\/ui\/assets\/callback-\w{8}\.js"/);
  });
});

describe('the look that a session sets', () => {
  it('is the standard one until the environment has its own', () => {
    const standard = { light: { primary: '#2457c5' }, dark: { primary: '#8fb4ff' } };
    expect(connectUiSettings({})).toEqual({
      theme: standard,
      defaultTheme: 'system',
      showWatermark: false,
    });
  });
});
