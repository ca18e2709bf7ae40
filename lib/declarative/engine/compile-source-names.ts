import type { CompileContext } from '../spec-problem.js';
import type { PipelineSource } from './pipeline-plan.js';

// Names that a path can use without quotes.
const sourceName = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/**
 * Returns the names of the sources in the documents of a join: their aliases, or their kinds. Names must be
 * unique.
 * @param context - of the controller
 */
export function compileSourceNames(
  sources: readonly PipelineSource[],
  context: CompileContext,
): readonly string[] {
  if (sources.length === 0) context.report({ message: 'wants at least one source' }, 'sources');
  const names = sources.map(({ kind, as }) => as ?? kind);
  for (const [place, source] of sources.entries()) {
    const name = source.as ?? source.kind;
    const at = context.at('sources', place, source.as === undefined ? 'kind' : 'as');
    if (!sourceName.test(name)) {
      at.report({ message: `${JSON.stringify(name)} is no name: letters, digits, _ and -` });
    }
    const earlier = names.indexOf(name);
    const other = sources[earlier];
    if (earlier < place && other !== undefined) reportClash([source, other, earlier], at);
  }
  return names;
}

function reportClash(
  [source, other, place]: readonly [PipelineSource, PipelineSource, number],
  at: CompileContext,
): void {
  const name = source.as ?? source.kind;
  const suggestion = `as: ${name}2`;
  if (source.as === undefined && other.as === undefined) {
    const groups =
      source.apiGroup === other.apiGroup
        ? 'twice'
        : `in two groups, ${groupText(other)} and ${groupText(source)}`;
    at.report({ message: `kind ${name} is a source ${groups}: give one an alias`, suggestion });
    return;
  }
  const message = `sources[${place}] is called ${name} already: give this one another alias`;
  at.report({ message, suggestion });
}

function groupText({ apiGroup }: PipelineSource): string {
  if (apiGroup === undefined) return "the operator's views";
  return apiGroup === '' ? 'core ("")' : apiGroup;
}
