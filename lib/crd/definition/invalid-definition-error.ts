import { OperatorError } from '../../system/operator-error.js';

/** A problem in the definition of a custom resource. */
export interface DefinitionProblem {
  /** For example `versions[1].storage`. */
  readonly field: string;
  /** The problem and its remedy. */
  readonly message: string;
}

const longestShown = 500;

function cut(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}

/** The definition of a custom resource is invalid: code `InvalidDefinition`. */
export class InvalidDefinitionError extends OperatorError {
  readonly problems: readonly DefinitionProblem[];

  constructor(kind: string, problems: readonly DefinitionProblem[]) {
    const text = problems.map(({ field, message }) => `${field}: ${cut(message)}`).join('; ');
    super('InvalidDefinition', `custom resource ${kind}: ${text}`);
    this.problems = problems;
  }
}
