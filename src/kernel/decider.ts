/**
 * Business rules: `decide` returns the events of a command, `evolve` keeps the state that later decisions need.
 * Both are pure: time and ids arrive in the command. No change is an empty list; a refusal is a thrown
 * `GatewayError`.
 */
export interface Decider<State, Command, Event> {
  readonly initial: State;
  decide(command: Command, state: State): Event[];
  evolve(state: State, event: Event): State;
}
