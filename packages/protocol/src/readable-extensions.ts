/** Extensions of files that can be ingested, as accepted by the page and the command line. */
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
