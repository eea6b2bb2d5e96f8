"""Sources of pages and links: crawl exports, websites, existing links and drafts."""
