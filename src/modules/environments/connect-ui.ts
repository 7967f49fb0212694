import { z } from 'zod';
import type { ConnectUi, Environment } from './state.ts';

const connectUiDefault: ConnectUi = {
  primary: { light: '#1f5fd0', dark: '#8ab4ff' },
  defaultTheme: 'system',
  showWatermark: false,
};

const primary = z.strictObject({
  primary: z.string().regex(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i, 'A colour as #rgb or #rrggbb.'),
});

/** `connect_ui` of `PATCH /environments/{id}`: what is not sent stays. */
export const connectUiShape = z.strictObject({
  theme: z.strictObject({ light: primary.optional(), dark: primary.optional() }).optional(),
  default_theme: z.enum(['light', 'dark', 'system']).optional(),
  show_watermark: z.boolean().optional(),
});

export function changedConnectUi(
  sent: z.output<typeof connectUiShape>,
  { connectUi = connectUiDefault }: Pick<Environment, 'connectUi'>,
): ConnectUi {
  const { theme = {} } = sent;
  return {
    primary: {
      light: theme.light?.primary ?? connectUi.primary.light,
      dark: theme.dark?.primary ?? connectUi.primary.dark,
    },
    defaultTheme: sent.default_theme ?? connectUi.defaultTheme,
    showWatermark: sent.show_watermark ?? connectUi.showWatermark,
  };
}

/** As the interface names it. */
export function presentConnectUi({ connectUi = connectUiDefault }: Pick<Environment, 'connectUi'>) {
  const { primary: colours, defaultTheme, showWatermark } = connectUi;
  const theme = { light: { primary: colours.light }, dark: { primary: colours.dark } };
  return { theme, default_theme: defaultTheme, show_watermark: showWatermark };
}

/** `connectUISettings` of `GET /connect/session`. */
export function connectUiSettings(environment: Pick<Environment, 'connectUi'>) {
  const { theme, default_theme, show_watermark } = presentConnectUi(environment);
  return { theme, defaultTheme: default_theme, showWatermark: show_watermark };
}
