import { OperatorError } from '../../system/operator-error.js';

/** Something wrong with the definition of a custom resource. */
export interface DefinitionProblem {
  /** For example `versions[1].storage`. */
  readonly field: string;
  /** What is wrong, and what to do. */
  readonly message: string;
}

const longestShown = 500;

function cut(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}

/** A custom resource can't be defined so: code `InvalidDefinition`. */
export class InvalidDefinitionError extends OperatorError {
  readonly problems: readonly DefinitionProblem[];

  constructor(kind: string, problems: readonly DefinitionProblem[]) {
    const text = problems.map(({ field, message }) => `${field}: ${cut(message)}`).join('; ');
    super('InvalidDefinition', `custom resource ${kind}: ${text}`);
    this.problems = problems;
  }
}
