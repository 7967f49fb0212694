// Rules of this project for oxlint.

/** Text from outside can be 32 KB of whatever a pattern is slowest with. */
const literalPattern = {
  create: (context) => {
    const check = (node) => {
      if (node.callee.name !== 'RegExp' || node.arguments[0]?.type === 'Literal') return;
      context.report({
        node,
        message:
          'A pattern built from text escapes the check for super-linear time: write it as a literal.',
      });
    };
    return { NewExpression: check, CallExpression: check };
  },
};

/** One way to hide a member: `#name`, which hides it at run time too. */
const hashPrivate = {
  create: (context) => {
    const check = (node) => {
      if (node.accessibility !== 'private' || node.kind === 'constructor') return;
      context.report({ node, message: 'Name a private member `#name`.' });
    };
    return { PropertyDefinition: check, MethodDefinition: check };
  },
};

export default {
  meta: { name: 'svc' },
  rules: { 'literal-pattern': literalPattern, 'hash-private': hashPrivate },
};
