import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

export interface Series {
  readonly label: string;
  /** Of the design system: `--series-1` to `--series-4`. */
  readonly color: `--series-${1 | 2 | 3 | 4}`;
  /** One value for each time. */
  readonly values: readonly number[];
}

interface ChartProps {
  /** Names the chart for those who do not see it. */
  readonly label: string;
  /** Seconds since the Unix epoch. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

const height = 110;

/** Values over time as bars, one series on top of the other. The legend below it has the totals as text. */
export function Chart({ label, times, series: all }: ChartProps): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The sum of all is drawn first, and what is below it over that.
    const series = all.toReversed();
    const element = frame.current;
    if (element === null) return;
    const draw = (): uPlot =>
      new uPlot(optionsOf(element, series), [[...times], ...stacked(series)], element);
    let plot = draw();
    const redraw = (): void => {
      plot.destroy();
      plot = draw();
    };
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    sizes.observe(element);
    // Colors are read when the chart is drawn.
    const theme = new MutationObserver(redraw);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      sizes.disconnect();
      theme.disconnect();
      plot.destroy();
    };
  }, [times, all]);
  return (
    <figure>
      <div class="chart" ref={frame} role="img" aria-label={label} />
      <figcaption class="legend">
        {all.map(({ label: name, color, values }) => (
          <span key={name}>
            <svg class="swatch" viewBox="0 0 8 8" aria-hidden="true">
              <rect width="8" height="8" rx="2" fill={`var(${color})`} />
            </svg>
            {name} <b class="number">{total(values).toLocaleString('en')}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** Each with the sum of the series after it. */
const stacked = (series: readonly Series[]): number[][] =>
  series.map(({ values }, at) =>
    values.map((_, step) =>
      series.slice(at).reduce((sum, { values: one }) => sum + (one[step] ?? 0), 0),
    ),
  );

/** The time of a tick; at midnight the day. */
function timeText(seconds: number): string {
  const at = new Date(seconds * 1000);
  return at.getHours() === 0 && at.getMinutes() === 0
    ? at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
    : at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Share of a step, and width at most. */
const bars = uPlot.paths.bars?.({ size: [0.8, 16] });

function optionsOf(element: HTMLElement, series: readonly Series[]): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max)] } },
    axes: [
      { ...axis, size: 28, values: (_plot, splits) => splits.map(timeText) },
      {
        ...axis,
        size: 44,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10_000, 100_000],
      },
    ],
    series: [
      {},
      ...series.map(({ label, color: name }) => ({
        label,
        stroke: color(name),
        fill: color(name),
        width: 0,
        ...(bars === undefined ? {} : { paths: bars }),
        points: { show: false },
      })),
    ],
  };
}
