import type { ComponentChildren, JSX } from 'preact';

interface SectionProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

export const Section = ({ title, children }: SectionProps): JSX.Element => (
  <section class="card padded stack">
    <h2>{title}</h2>
    {children}
  </section>
);
