/** Name of the document set that holds the project's own documentation. */
export const ownDocumentationSet = "Inlay's documentation"
