/** Endings of the files that become documents, as the page and the command line take them. */
export const readableExtensions: readonly string[] = [
  '.pdf',
  '.docx',
  '.pptx',
  '.xlsx',
  '.csv',
  '.html',
  '.htm',
  '.eml',
  '.md',
  '.markdown',
  '.mdx',
  '.txt',
  '.text',
  '.log',
  '.rst',
  '.adoc',
]
