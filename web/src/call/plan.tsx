export const choices: [string, string, string][] = [
  ["startEditing", "Keep the conversation", "It goes on with all it has read"],
  ["clearContextAndStart", "Clear it and start", "It starts afresh, with only this plan"],
];

/** How an approved plan is carried out. */
export function PlanChoice({ choice, choose, off }: { choice: string; choose: (choice: string) => void; off: boolean }) {
  return (
    <fieldset class="plan-choice" disabled={off}>
      <legend class="sect-head">
        <h3>{off ? "Carried out" : "If you approve"}</h3>
      </legend>
      <div class="choices is-row is-two">
        {choices.map(([value, name, says]) => (
          <label key={value} class="choice">
            <input type="radio" name="choice" value={value} checked={choice === value} onChange={() => choose(value)} />
            <b>{name}</b>
            <small>{says}</small>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
