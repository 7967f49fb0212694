import * as menu from '@zag-js/menu';
import { normalizeProps, useMachine } from '@zag-js/preact';
import type { JSX } from 'preact';
import { useElementId } from './element-id.ts';
import { Icon, type IconName } from './icon.tsx';
import { Portal } from './portal.tsx';

export interface MenuItem {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly onSelect: () => void;
}

interface MenuProps {
  /** Text of the button; with an icon only it is its label. */
  readonly label: string;
  readonly icon?: IconName;
  readonly isIconOnly?: boolean;
  readonly items: readonly MenuItem[];
}

/** A button that opens a list of actions. */
export function Menu({ label, icon, isIconOnly = false, items }: MenuProps): JSX.Element {
  const service = useMachine(menu.machine, {
    id: useElementId(),
    'aria-label': label,
    onSelect: ({ value }) => items.find(({ id }) => id === value)?.onSelect(),
  });
  const api = menu.connect(service, normalizeProps);
  return (
    <>
      <button
        {...api.getTriggerProps()}
        class={isIconOnly ? 'button quiet icon-only' : 'button'}
        aria-label={isIconOnly ? label : undefined}
        title={isIconOnly ? label : undefined}
      >
        {icon !== undefined && <Icon name={icon} />}
        {!isIconOnly && (
          <>
            <span class="clip">{label}</span>
            <Icon name="chevron" />
          </>
        )}
      </button>
      {api.open && (
        <Portal>
          <div {...api.getPositionerProps()}>
            <div {...api.getContentProps()} class="menu">
              {items.map((item) => (
                <MenuRow key={item.id} item={item} api={api} />
              ))}
            </div>
          </div>
        </Portal>
      )}
    </>
  );
}

interface MenuRowProps {
  readonly item: MenuItem;
  readonly api: menu.Api;
}

function MenuRow({ item, api }: MenuRowProps): JSX.Element {
  const { id, label, icon, isDangerous = false, isDisabled = false } = item;
  const props = api.getItemProps({ value: id, disabled: isDisabled, valueText: label });
  return (
    <div {...props} class={isDangerous ? 'danger' : ''}>
      {icon !== undefined && <Icon name={icon} />}
      <span class="clip">{label}</span>
    </div>
  );
}
