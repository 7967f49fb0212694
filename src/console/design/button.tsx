import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import { Icon, type IconName } from './icon.tsx';

type Tone = 'plain' | 'primary' | 'danger' | 'danger filled' | 'quiet';

interface Look {
  readonly tone?: Tone;
  readonly icon?: IconName;
  readonly isSmall?: boolean;
}

interface ButtonProps extends Look {
  readonly children: ComponentChildren;
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean | undefined;
  /** Shows that the action is running, and takes no second press. */
  readonly isBusy?: boolean;
  readonly title?: string | undefined;
  readonly onPress?: (() => void) | undefined;
}

const classOf = ({ tone = 'plain', isSmall }: Look): string =>
  `button ${tone} ${isSmall === true ? 'small' : ''}`;

export function Button(props: ButtonProps): JSX.Element {
  const { children, type = 'button', isDisabled = false, isBusy = false, icon, title } = props;
  return (
    <button
      type={type}
      class={classOf(props)}
      disabled={isDisabled || isBusy}
      aria-busy={isBusy}
      title={title}
      onClick={() => props.onPress?.()}
    >
      {isBusy ? <span class="spinner" /> : icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  /** Read to those who do not see the icon, and shown on hover. */
  readonly label: string;
  readonly isSmall?: boolean;
  readonly onPress: () => void;
}

export function IconButton({ icon, label, isSmall, onPress }: IconButtonProps): JSX.Element {
  const size = isSmall === true ? 'small' : '';
  return (
    <button
      type="button"
      class={`button quiet icon-only ${size}`}
      aria-label={label}
      title={label}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}

interface LinkButtonProps extends Look {
  readonly href: string;
  readonly children: ComponentChildren;
}

/** A link to another page of the console that looks like a button. */
export function LinkButton({ href, icon, children, ...look }: LinkButtonProps): JSX.Element {
  return (
    <Link href={href} class={classOf(look)}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </Link>
  );
}
