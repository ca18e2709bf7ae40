import { opening, problemsIn } from './words.js';

/** ESLint rule that reports avoided words in comments and in strings of more than one word. */
export const plainWords = {
  meta: {
    type: 'suggestion',
    messages: { avoided: '"{{found}}" is not plain: write {{better}}.' },
    schema: [],
  },
  create(context) {
    const check = (text, loc) => {
      for (const { found, better } of problemsIn(text)) {
        context.report({ loc, messageId: 'avoided', data: { found, better } });
      }
    };
    const checkText = (node, text) => {
      if (/\s/.test(text)) check(text, node.loc);
    };
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const text = comment.value.replace(/^[*\s]+|\s*\n[\s*]*/g, ' ').trim();
          check(text, comment.loc);
          const found = comment.value.startsWith('*') && opening.pattern.exec(text)?.[0];
          if (!found) continue;
          const data = { found, better: opening.better };
          context.report({ loc: comment.loc, messageId: 'avoided', data });
        }
      },
      Literal(node) {
        if (typeof node.value === 'string') checkText(node, node.value);
      },
      TemplateElement(node) {
        checkText(node, node.value.cooked ?? '');
      },
    };
  },
};
