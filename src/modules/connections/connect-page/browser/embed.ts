import { messageSource, type ConnectEvent } from './host.ts';

/** The options of an application for the page. */
export interface ConnectOptions {
  /** Token of `POST /connect/sessions`; never part of a URL. */
  readonly sessionToken: string;
  /** Default: a frame over the page. */
  readonly as?: 'frame' | 'popup';
  /** The frame is inserted into this element instead of a layer over the page. */
  readonly container?: HTMLElement;
  readonly language?: 'en' | 'de' | 'fr' | 'es' | 'ja';
  readonly theme?: 'light' | 'dark' | 'system';
  readonly onEvent?: (event: ConnectEvent) => void;
}

export interface ConnectHandle {
  /** Removes the page; emits `close` unless it was emitted. */
  close(): void;
}

declare global {
  interface Window {
    svcConnect: { open(options: ConnectOptions): ConnectHandle };
  }
}

const here = (document.currentScript as HTMLScriptElement).src;
const lookEveryMs = 500;
const frameTitle = 'Connect an account';

interface EmbeddedView {
  readonly view: Window | null;
  remove(): void;
}

function open(options: ConnectOptions): ConnectHandle {
  const page = new URL('ui/', here);
  const settings = new URLSearchParams({ parent_origin: location.origin });
  if (options.language !== undefined) settings.set('lang', options.language);
  if (options.theme !== undefined) settings.set('theme', options.theme);
  page.hash = settings.toString();
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    removeEventListener('message', onMessage);
    place.remove();
    options.onEvent?.({ type: 'close' });
  };
  const onMessage = ({ origin, source, data }: MessageEvent): void => {
    if (origin !== page.origin || source !== place.view) return;
    const message = data as { source?: unknown; type?: unknown } | null;
    if (message?.source !== messageSource) return;
    if (message.type === 'token-wanted') {
      const answer = { source: messageSource, token: options.sessionToken };
      place.view?.postMessage(answer, page.origin);
    } else if (message.type === 'close') close();
    else options.onEvent?.(eventOf(message));
  };
  addEventListener('message', onMessage);
  const place = options.as === 'popup' ? inWindow(page, close) : inFrame(page, options, close);
  return { close };
}

const eventOf = ({ source: _source, ...event }: { source?: unknown }): ConnectEvent =>
  event as unknown as ConnectEvent;

function inWindow(page: URL, onClosed: () => void): EmbeddedView {
  const view = window.open(page, '_blank', 'popup,width=480,height=760');
  const look = setInterval(() => {
    if (view === null || view.closed) onClosed();
  }, lookEveryMs);
  return {
    view,
    remove() {
      clearInterval(look);
      view?.close();
    },
  };
}

function inFrame(page: URL, { container }: ConnectOptions, onClosed: () => void): EmbeddedView {
  const frame = document.createElement('iframe');
  frame.src = page.href;
  frame.title = frameTitle;
  frame.allow = 'clipboard-write';
  frame.referrerPolicy = 'no-referrer';
  Object.assign(frame.style, { border: '0', width: '100%', height: '100%', display: 'block' });
  if (container !== undefined) {
    container.append(frame);
    return { view: frame.contentWindow, remove: () => frame.remove() };
  }
  const layer = document.createElement('dialog');
  Object.assign(layer.style, {
    padding: '0',
    border: '0',
    borderRadius: '12px',
    overflow: 'hidden',
    width: 'min(30rem, 100vw)',
    height: 'min(46rem, 100vh)',
    maxWidth: '100vw',
    maxHeight: '100vh',
  });
  layer.setAttribute('aria-label', frameTitle);
  layer.append(frame);
  layer.addEventListener('close', onClosed);
  document.body.append(layer);
  layer.showModal();
  return {
    view: frame.contentWindow,
    remove() {
      layer.removeEventListener('close', onClosed);
      layer.close();
      layer.remove();
    },
  };
}

window.svcConnect = { open };
